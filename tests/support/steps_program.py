"""A program of steps, each of which asks the model, for tests of budgets."""
STEPS = '''\
fn step(ctx: Context, n: i32) -> String { "Do step {{ n }}"! }
fn main(ctx: Context) -> i32 {
    let done = 0
    while done < 6 {
        step(ctx, done)
        done += 1
    }
    done
}
fn broken() -> i32 { 1 / (1 - 1) }
agent Worker {
    fn turn(ctx: Context, input: String) -> String {
        step(ctx, 1)
        if input == "twice" { step(ctx, 2) }
        input
    }
}
'''
STEPS_SCRIPT = "step => " + ", ".join(f'"{n}"' for n in range(6)) + "\n"
