"""`dflash-env explain`: what a check looks for, why that matters, and how to mend it."""

import click

from dflash_env import bundle, codec
from dflash_env.errors import Failure
from dflash_env.render import text as render_text


@click.command()
@click.argument("check", required=False)
@click.option("--all", "everything", is_flag=True, help="Every check, as the page docs/checks.md.")
def explain(check: str | None, everything: bool) -> int:
    """Explain CHECK, such as gpu-count-wrong: what is wrong, why it matters, and the fix."""
    if everything == bool(check):
        raise click.UsageError("name one check, or use --all")
    if everything:
        click.echo(render_text.explanations(bundle.checks()), nl=False)
        return 0
    by_id = {each.id: each for each in bundle.checks()}
    if check not in by_id:
        raise Failure(
            f"there is no check {check!r}{codec.did_you_mean(str(check), by_id)}",
            "`dflash-env explain --all` lists every check",
        )
    click.echo(render_text.explanation(by_id[check]), nl=False)
    return 0
