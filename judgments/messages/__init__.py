"""What people are told of events: notices in the application, and an outbox that workers send."""
