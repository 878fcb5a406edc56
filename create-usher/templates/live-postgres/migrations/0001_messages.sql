create table messages (
  id int generated always as identity primary key,
  text text not null,
  sent_at timestamptz not null default now()
);
