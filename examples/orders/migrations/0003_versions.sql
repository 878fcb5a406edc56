-- Counts the changes of an order: its ETag, by which two clerks do not overwrite each other.
alter table orders add column version bigint not null default 1;
