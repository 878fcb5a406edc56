import { Statement, Type } from "usher-http/postgres";

const { array, bool, instant, int, optional, text } = Type;

const user = { id: int, email: text, username: text, bio: text, image: text };
const userColumns = "id, email, username, bio, image";

export const addUser = Statement.find(
  `insert into users (email, username, password) values ($1, $2, $3) returning ${userColumns}`,
  { params: [text, text, text], row: user },
);
export const findUser = Statement.findOptional(`select ${userColumns} from users where id = $1`, {
  params: [int],
  row: user,
});
export const findLogin = Statement.findOptional(`select ${userColumns}, password from users where email = $1`, {
  params: [text],
  row: { ...user, password: text },
});
/** Changes what is given. */
export const changeUser = Statement.find(
  `update users set email = coalesce($2, email), username = coalesce($3, username), password = coalesce($4, password),
     bio = coalesce($5, bio), image = coalesce($6, image)
   where id = $1 returning ${userColumns}`,
  { params: [int, optional(text), optional(text), optional(text), optional(text), optional(text)], row: user },
);

/** A user as another one sees them, whose id is $1. */
const profile = { username: text, bio: text, image: text, following: bool };
const profileColumns = `username, bio, image,
  exists (select from follows where follower = $1 and followed = users.id) as following`;

export const findProfile = Statement.findOptional(`select ${profileColumns} from users where username = $2`, {
  params: [optional(int), text],
  row: profile,
});
export const follow = Statement.exec(
  `insert into follows (follower, followed) select $1, id from users where username = $2 on conflict do nothing`,
  { params: [int, text] },
);
export const unfollow = Statement.exec(
  "delete from follows using users where follower = $1 and followed = users.id and username = $2",
  { params: [int, text] },
);

/** An article and its author, as the user $1 sees them. The columns have the names that they have in JSON. */
const article = {
  slug: text,
  title: text,
  description: text,
  body: text,
  tagList: array(text),
  createdAt: instant,
  updatedAt: instant,
  favorited: bool,
  favoritesCount: int,
  ...profile,
};
const articles = `select slug, title, description, body, tags as "tagList", created_at as "createdAt",
    updated_at as "updatedAt", ${profileColumns},
    exists (select from favorites where article = articles.id and fan = $1) as favorited,
    (select count(*) from favorites where article = articles.id)::int as "favoritesCount"
  from articles join users on users.id = author`;

export const findArticle = Statement.findOptional(`${articles} where slug = $2`, {
  params: [optional(int), text],
  row: article,
});

/** Of a tag, by an author, and a favorite of a user: each may be left out. */
const wanted = (tag: string, author: string, fan: string) => `
  where (${tag}::text is null or tags @> array[${tag}]) and (${author}::text is null or users.username = ${author})
    and (${fan}::text is null or exists (
      select from favorites join users as fans on fans.id = fan where article = articles.id and fans.username = ${fan}))`;
/** By an author whom the user $1 follows. */
const fed = "where exists (select from follows where follower = $1 and followed = author)";
const newestFirst = "order by articles.id desc";
const counted = "select count(*)::int as count from articles join users on users.id = author";

export const listArticles = Statement.list(
  `${articles} ${wanted("$2", "$3", "$4")} ${newestFirst} limit $5 offset $6`,
  {
    params: [optional(int), optional(text), optional(text), optional(text), int, int],
    row: article,
  },
);
export const countArticles = Statement.find(`${counted} ${wanted("$1", "$2", "$3")}`, {
  params: [optional(text), optional(text), optional(text)],
  row: { count: int },
});
export const listFeed = Statement.list(`${articles} ${fed} ${newestFirst} limit $2 offset $3`, {
  params: [int, int, int],
  row: article,
});
export const countFeed = Statement.find(`${counted} ${fed}`, { params: [int], row: { count: int } });

export const addArticle = Statement.find(
  `with articles as (
     insert into articles (author, slug, title, description, body, tags) values ($1, $2, $3, $4, $5, $6) returning *
   ) ${articles}`,
  { params: [int, text, text, text, text, array(text)], row: article },
);
/** Whose an article is. It stays as it is until the transaction ends. */
export const lockArticle = Statement.findOptional("select id, author from articles where slug = $1 for update", {
  params: [text],
  row: { id: int, author: int },
});
/** Changes what is given. */
export const changeArticle = Statement.find(
  `with articles as (
     update articles set slug = coalesce($3, slug), title = coalesce($4, title),
       description = coalesce($5, description), body = coalesce($6, body), tags = coalesce($7, tags), updated_at = now()
     where id = $2 returning *
   ) ${articles}`,
  {
    params: [int, int, optional(text), optional(text), optional(text), optional(text), optional(array(text))],
    row: article,
  },
);
export const removeArticle = Statement.exec("delete from articles where id = $1", { params: [int] });
/** Locks the article: if another request removes it at the same time, this adds no row and violates no foreign key. */
export const addFavorite = Statement.exec(
  `insert into favorites (fan, article) select $1, id from articles where slug = $2 for key share
   on conflict do nothing`,
  { params: [int, text] },
);
export const removeFavorite = Statement.exec(
  "delete from favorites using articles where fan = $1 and article = articles.id and slug = $2",
  { params: [int, text] },
);
export const listTags = Statement.list("select distinct unnest(tags) as tag from articles order by tag", {
  row: { tag: text },
});

const comment = { id: int, body: text, createdAt: instant, updatedAt: instant, ...profile };
const commentColumns = `comments.id, comments.body, comments.created_at as "createdAt",
  comments.updated_at as "updatedAt", ${profileColumns}`;

export const listComments = Statement.list(
  `select ${commentColumns} from comments join users on users.id = comments.author
   join articles on articles.id = article
   where slug = $2 order by comments.id`,
  { params: [optional(int), text], row: comment },
);
export const addComment = Statement.findOptional(
  `with comments as (
     insert into comments (article, author, body) select id, $1, $3 from articles where slug = $2 for key share
     returning *
   ) select ${commentColumns} from comments join users on users.id = author`,
  { params: [int, text, text], row: comment },
);
export const findComment = Statement.findOptional(
  `select comments.author from comments join articles on articles.id = article
   where slug = $1 and comments.id = $2 for update of comments`,
  { params: [text, int], row: { author: int } },
);
export const removeComment = Statement.exec("delete from comments where id = $1", { params: [int] });
