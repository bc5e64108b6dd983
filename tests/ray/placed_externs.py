"""The function of placed/desk.tn."""
import ray
import tenon


@tenon.extern
def place() -> str:
    context = ray.get_runtime_context()
    return f"{context.get_actor_name()} on {context.get_node_id()}"
