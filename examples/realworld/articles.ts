import { Meta, Path, Query, Refusal, Returns, Shape, del, get, json, param, post, put, refuse } from "usher-http";
import type { Database, Pool } from "usher-http/postgres";
import * as v from "valibot";
import { caller, viewer } from "./accounts.ts";
import { database, text, textUpTo, wholeNumber } from "./database.ts";
import * as statements from "./statements.ts";
import { Profile } from "./users.ts";

const line = v.pipe(text, v.minLength(1), v.maxLength(200));
const tags = v.pipe(v.array(line), v.maxLength(50));

const written = { title: line, description: textUpTo(1000), body: textUpTo(20_000) };
const NewArticle = v.object({ article: v.object({ ...written, tagList: v.optional(tags, []) }) });
const ArticleChange = v.object({ article: v.partial(v.object({ ...written, tagList: tags })) });
const Article = Shape.named(
  "Article",
  v.object({
    slug: v.string(),
    title: v.string(),
    description: v.string(),
    body: v.string(),
    tagList: v.array(v.string()),
    createdAt: Shape.instant,
    updatedAt: Shape.instant,
    favorited: v.boolean(),
    favoritesCount: wholeNumber,
    author: Profile,
  }),
);
const ArticleAnswer = v.object({ article: Article });
const ArticlesAnswer = v.object({ articles: v.array(Article), articlesCount: wholeNumber });

export const notYours = Refusal.code("not_yours", { status: 403, doc: "That is another user's to change." });

const limit = Query.default("limit", v.pipe(wholeNumber, v.minValue(1), v.maxValue(100)), 20);
const offset = Query.default("offset", wholeNumber, 0);

const articles = Path.of("api", "articles");
export const slug = Path.param("slug", text);
const article = Path.of("api", "articles", slug);
const favorite = Path.of("api", "articles", slug, "favorite");

const listArticles = get(
  articles,
  {
    summary: "Articles, the newest first",
    meta: Meta.tool({ name: "articles" }),
    inputs: {
      viewer,
      tag: Query.optional("tag", text),
      author: Query.optional("author", text),
      favorited: Query.optional("favorited", text),
      limit,
      offset,
      database,
    },
    returns: Returns.json(ArticlesAnswer),
  },
  async ({ viewer, tag, author, favorited, limit, offset, database }) => {
    const [rows, { count }] = await Promise.all([
      database.exec(statements.listArticles, viewer?.id, tag, author, favorited, limit, offset),
      database.exec(statements.countArticles, tag, author, favorited),
    ]);
    return { articles: rows.map(withAuthor), articlesCount: count };
  },
);

const feed = get(
  Path.of("api", "articles", "feed"),
  {
    summary: "Articles of the authors whom the caller follows",
    meta: Meta.tool({ name: "feed" }),
    inputs: { caller, limit, offset, database },
    returns: Returns.json(ArticlesAnswer),
  },
  async ({ caller, limit, offset, database }) => {
    const [rows, { count }] = await Promise.all([
      database.exec(statements.listFeed, caller.id, limit, offset),
      database.exec(statements.countFeed, caller.id),
    ]);
    return { articles: rows.map(withAuthor), articlesCount: count };
  },
);

const addArticle = post(
  articles,
  {
    summary: "Write an article",
    meta: Meta.tool({ name: "write_article" }),
    inputs: { caller, body: json(NewArticle), database },
    returns: Returns.json(ArticleAnswer, { status: 201 }),
  },
  async ({ caller, body: { article }, database }) => {
    const { title, description, body, tagList } = article;
    const values = [slugOf(title), title, description, body, sorted(tagList)] as const;
    return { article: withAuthor(await database.exec(statements.addArticle, caller.id, ...values)) };
  },
);

const findArticle = get(
  article,
  {
    summary: "An article",
    meta: Meta.tool({ name: "article" }),
    inputs: { viewer, slug: param(slug), database },
    returns: Returns.json(ArticleAnswer),
    refuses: [Refusal.notFound],
  },
  ({ viewer, slug, database }) => articleAnswer(database, viewer?.id, slug),
);

const changeArticle = put(
  article,
  {
    summary: "Change an article",
    meta: Meta.tool({ name: "change_article" }),
    inputs: { caller, slug: param(slug), body: json(ArticleChange), database },
    returns: Returns.json(ArticleAnswer),
    refuses: [Refusal.notFound, notYours],
  },
  ({ caller, slug, body: { article }, database }) =>
    database.transaction(async (db) => {
      const own = await ownArticle(db, caller.id, slug);
      if (own instanceof Refusal) return own;
      const { title, description, body, tagList } = article;
      const values = [title && slugOf(title), title, description, body, tagList && sorted(tagList)] as const;
      return { article: withAuthor(await db.exec(statements.changeArticle, caller.id, own.id, ...values)) };
    }),
);

const removeArticle = del(
  article,
  {
    summary: "Remove an article",
    meta: Meta.tool({ name: "remove_article" }),
    inputs: { caller, slug: param(slug), database },
    returns: Returns.empty({ status: 200 }),
    refuses: [Refusal.notFound, notYours],
  },
  ({ caller, slug, database }) =>
    database.transaction(async (db) => {
      const own = await ownArticle(db, caller.id, slug);
      return own instanceof Refusal ? own : db.exec(statements.removeArticle, own.id);
    }),
);

const marking = {
  inputs: { caller, slug: param(slug), database },
  returns: Returns.json(ArticleAnswer),
  refuses: [Refusal.notFound],
} as const;

const addFavorite = post(
  favorite,
  { summary: "Make an article a favorite", meta: Meta.tool({ name: "add_favorite" }), ...marking },
  ({ caller, slug, database }) => mark(database, statements.addFavorite, caller.id, slug),
);

const removeFavorite = del(
  favorite,
  { summary: "Make an article a favorite no longer", meta: Meta.tool({ name: "remove_favorite" }), ...marking },
  ({ caller, slug, database }) => mark(database, statements.removeFavorite, caller.id, slug),
);

const listTags = get(
  Path.of("api", "tags"),
  {
    summary: "Every tag",
    meta: Meta.tool({ name: "tags" }),
    inputs: { database },
    returns: Returns.json(v.object({ tags: v.array(v.string()) })),
  },
  async ({ database }) => ({ tags: (await database.exec(statements.listTags)).map(({ tag }) => tag) }),
);

export const articleRoutes = [
  listArticles,
  feed,
  addArticle,
  findArticle,
  changeArticle,
  removeArticle,
  addFavorite,
  removeFavorite,
  listTags,
] as const;

async function articleAnswer(db: Database | Pool, viewer: number | undefined, slug: string) {
  const found = await db.exec(statements.findArticle, viewer, slug);
  return found === undefined ? refuse(Refusal.notFound) : { article: withAuthor(found) };
}

function mark(database: Pool, change: typeof statements.addFavorite, caller: number, slug: string) {
  return database.transaction(async (db) => {
    await db.exec(change, caller, slug);
    return articleAnswer(db, caller, slug);
  });
}

/** The author's columns are in the article's row. What the shape does not name stays here. */
export function withAuthor<Row extends object>(row: Row): Row & { readonly author: Row } {
  return { ...row, author: row };
}

async function ownArticle(db: Database, caller: number, slug: string) {
  const found = await db.exec(statements.lockArticle, slug);
  if (found === undefined) return refuse(Refusal.notFound);
  return found.author === caller ? found : refuse(notYours, "Only its author can change an article.");
}

/** The words of a title, and what tells it from another article of that title. */
function slugOf(title: string): string {
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...words, crypto.randomUUID().slice(0, 8)].join("-");
}

function sorted(tags: readonly string[]): readonly string[] {
  return [...new Set(tags)].toSorted();
}
