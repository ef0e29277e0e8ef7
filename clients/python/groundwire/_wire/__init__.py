"""Between protobuf and typed values: pure functions, no I/O."""
