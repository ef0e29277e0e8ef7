"""The generated messages and stubs of the protobuf package `groundwire.v1`; `make proto` writes them."""
