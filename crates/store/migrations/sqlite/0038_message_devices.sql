-- The devices that report in a raw message that is not of one device alone. No reference to the device: a message must not fail
-- because one of its devices was deleted meanwhile. Rows of deleted devices are hidden, and deleted with the message.
CREATE TABLE raw_message_device (
    account_id INTEGER NOT NULL,
    message_id INTEGER NOT NULL,
    device_id  INTEGER NOT NULL,
    PRIMARY KEY (account_id, message_id, device_id),
    FOREIGN KEY (account_id, message_id) REFERENCES raw_message (account_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX raw_message_device_by_device ON raw_message_device (account_id, device_id, message_id);
