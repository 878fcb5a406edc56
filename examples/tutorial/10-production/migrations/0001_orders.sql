create table orders (
  id int generated always as identity primary key,
  item text not null,
  quantity int not null,
  cents int not null
);
