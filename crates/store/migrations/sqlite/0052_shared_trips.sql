-- Whether the page of a share link shows the trips of the devices. Links made before show none.

ALTER TABLE share ADD COLUMN show_trips INTEGER NOT NULL DEFAULT 0 CHECK (show_trips IN (0, 1));
