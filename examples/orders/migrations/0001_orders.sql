-- Whatever is not listed here there is enough of.
create table stock (
  item text primary key,
  left_over bigint not null check (left_over >= 0)
);
insert into stock values ('unicorn', 0);

create table orders (
  id bigint generated always as identity primary key,
  item text not null,
  quantity bigint not null check (quantity >= 1),
  placed_at timestamptz not null,
  -- Which request placed it, where that said so: sent again, it places nothing.
  key uuid unique
);

-- What happened to the orders, numbered in the order it was kept: the last thousand changes.
create table changes (
  number bigint primary key,
  what text not null check (what in ('placed', 'changed', 'removed')),
  id bigint not null,
  item text not null,
  quantity bigint not null,
  placed_at timestamptz not null
);
-- The number of the last change, and what they begin behind. Who changes an order waits for the one before to be kept, so
-- that no number is seen before a lower one. They begin with the time: no number is one that another database gave.
create table last_change (
  number bigint not null,
  beginning bigint not null
);
insert into last_change
select number, number from (select (extract(epoch from now()) * 1000)::bigint * 1000 as number) as began;
