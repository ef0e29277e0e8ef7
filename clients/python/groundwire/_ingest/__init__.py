"""Getting documents and figures in: what is sent when, and what to do when the connection breaks. No I/O."""
