"""The node side: follow logs, sample GPUs and processes, save evidence, never harm the job."""
