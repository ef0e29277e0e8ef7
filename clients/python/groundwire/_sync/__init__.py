"""The client that blocks: threads, and grpc's own channel."""
