-- As IdempotencyTable.schema({ table: "answers" }) has it.
create table "answers" (
  digest text primary key,
  fingerprint text not null,
  token text not null,
  answer text,
  locked_until timestamptz not null,
  kept_until timestamptz not null
);
create index "answers_kept_until" on "answers" (kept_until);
comment on table "answers" is 'Answers to idempotency keys.';
comment on column "answers".digest is 'SHA-256 of the key and its caller.';
comment on column "answers".fingerprint is 'SHA-256 of the method, path, query and body of the request.';
comment on column "answers".answer is 'Null while the request runs, and where its process was killed.';
comment on column "answers".locked_until is 'When a request without an answer counts as killed.';
-- The answer of a key was known before, and not kept.
alter table orders drop column key;
