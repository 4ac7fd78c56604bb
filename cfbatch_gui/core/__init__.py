"""The program without a face: no Qt, runs on any asyncio loop."""
