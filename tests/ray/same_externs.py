"""The functions of same/desk.tn, and its model."""
import tenon

PRICES = {"tea": 250, "milk": 120}


@tenon.extern
def price(item: str) -> int:
    return PRICES[item]


@tenon.extern
def charge(cents: int) -> str:
    return f"charged {cents}"


def model(request: tenon.Request) -> str:
    """What it answers depends on the prompt alone."""
    return f"{len(request.text)} characters"
