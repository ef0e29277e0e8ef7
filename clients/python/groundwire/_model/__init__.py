"""What callers see instead of protobuf: frozen values, no I/O. Field names are those of the contract."""
