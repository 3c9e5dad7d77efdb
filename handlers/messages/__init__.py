"""Every sentence and every block that a person reads."""
