-- Further kinds of messages to devices: tracking intervals, and what is sent in an emergency.

ALTER TABLE conversation_message DROP CONSTRAINT conversation_message_kind_check;
ALTER TABLE conversation_message ADD CONSTRAINT conversation_message_kind_check CHECK (kind IN (
    'text', 'locationRequest', 'trackingInterval', 'emergencyAcknowledge', 'emergencyMessage'
));
-- Of a tracking interval, in seconds.
ALTER TABLE conversation_message ADD COLUMN interval_s BIGINT;
