"""What a task's logits mean."""
