create table stock (
  item text primary key,
  left_over int not null check (left_over >= 0)
);

create table orders (
  id int generated always as identity primary key,
  item text not null references stock,
  quantity int not null,
  placed_at timestamptz not null default now()
);

insert into stock values ('pen', 100), ('ruler', 10);
