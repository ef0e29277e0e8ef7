"""`python -m groundwire_server.cli` is `groundwire`."""

from groundwire_server.cli import main

main()
