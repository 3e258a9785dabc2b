"""
Runs the script `elmo-tasks`. This file imports nothing before it calls `main`. So Ctrl-C always
ends the process with one line and exit status 130, even while Python imports the package.
"""

import sys


def main() -> None:
    """Runs the command that `sys.argv` names."""
    try:
        from elmo_tasks.console import main as run_command

        run_command()
    except KeyboardInterrupt:
        print("elmo-tasks: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
