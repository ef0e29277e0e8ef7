"""The client for asyncio: tasks, and the channel of grpc.aio."""
