create table orders (
  id bigint generated always as identity primary key,
  item text not null,
  quantity int not null check (quantity > 0),
  cents int not null,
  placed_at timestamptz not null
);

create table stock (
  item text primary key,
  left_over int not null check (left_over >= 0)
);
insert into stock values ('pen', 1000), ('ink', 3);
