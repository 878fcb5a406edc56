create table users (
  id int generated always as identity primary key,
  email text not null unique,
  username text not null unique,
  -- A salt and a hash: see accounts.ts.
  password text not null,
  bio text not null default '',
  image text not null default ''
);

create table follows (
  follower int references users on delete cascade,
  followed int references users on delete cascade,
  primary key (follower, followed)
);

create table articles (
  id int generated always as identity primary key,
  slug text not null unique,
  title text not null,
  description text not null,
  body text not null,
  tags text[] not null,
  author int not null references users on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on articles (author);
create index on articles using gin (tags);

create table favorites (
  article int references articles on delete cascade,
  fan int references users on delete cascade,
  primary key (article, fan)
);
create index on favorites (fan);

create table comments (
  id int generated always as identity primary key,
  article int not null references articles on delete cascade,
  author int not null references users on delete cascade,
  body text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on comments (article);
