"""Extracts a booking from a message: a schema, and one requirement that a function checks, repaired with its reasons."""
from mellea import MelleaSession
from mellea.stdlib.context import SimpleContext
from mellea.stdlib.requirements import req, simple_validate
from mellea.stdlib.sampling import RepairTemplateStrategy
from pydantic import BaseModel, Field, ValidationError

import tasks


class Booking(BaseModel):
    guest: str = Field(min_length=2)
    city: str = Field(min_length=2)
    nights: int = Field(ge=1, le=tasks.Booking.nights_max)


def is_in_message(message):
    def check(output):
        try:
            booking = Booking.model_validate_json(output)
        except ValidationError as error:
            return False, f"The output is not a booking: {error.errors()[0]['msg']}"
        return (tasks.Booking.is_in_message(booking.model_dump(), message),
                "The guest, the city and the number of nights must stand in the message, word for word.")
    return check


def run(backend, message):
    session = MelleaSession(backend=backend, ctx=SimpleContext())
    result = session.instruct(
        "Extract the booking from the message.",
        grounding_context={"message": message},
        requirements=[req("The guest, the city and the number of nights stand in the message, word for word.",
                          validation_fn=simple_validate(is_in_message(message)))],
        strategy=RepairTemplateStrategy(loop_budget=1 + tasks.REPAIRS_MAX),
        format=Booking,
        return_sampling_results=True,
    )
    if not result.success:
        raise ValueError("the requirement did not hold after the repairs")
    return Booking.model_validate_json(str(result.result)).model_dump()
