"""
Runs the script `elmo-tasks`. It imports nothing before `main`, so that Ctrl-C at any moment ends
the process as it does later: by one line and exit status 130.
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
