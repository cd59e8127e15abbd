-- Whether the page of a share link shows the trips of the devices. Links made before show none.

ALTER TABLE share ADD COLUMN show_trips BOOLEAN NOT NULL DEFAULT FALSE;
