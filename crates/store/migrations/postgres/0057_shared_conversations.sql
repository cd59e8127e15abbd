-- Whether the page of a share link shows the conversations of the devices, and how many minutes after each message.
-- Links made before show none.

ALTER TABLE share ADD COLUMN show_conversation BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE share ADD COLUMN conversation_delay BIGINT NOT NULL DEFAULT 0;

-- The quick replies of an account: a JSON array of texts; NULL for those of the console.
ALTER TABLE account ADD COLUMN quick_replies TEXT;
