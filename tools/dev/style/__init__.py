"""The style test: what a reviewer would otherwise have to say again and again. Each message names the replacement."""
