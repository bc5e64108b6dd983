"""The style test: automates recurring review comments. Each message names the replacement."""
