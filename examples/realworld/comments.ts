import { Meta, Path, Refusal, Returns, Shape, del, get, json, param, post, refuse } from "usher-http";
import * as v from "valibot";
import { caller, viewer } from "./accounts.ts";
import { notYours, slug, withAuthor } from "./articles.ts";
import { database, textUpTo, wholeNumber } from "./database.ts";
import * as statements from "./statements.ts";
import { Profile } from "./users.ts";

const NewComment = v.object({ comment: v.object({ body: v.pipe(textUpTo(5000), v.minLength(1)) }) });
const Comment = Shape.named(
  "Comment",
  v.object({ id: wholeNumber, body: v.string(), createdAt: Shape.instant, updatedAt: Shape.instant, author: Profile }),
);

const comments = Path.of("api", "articles", slug, "comments");
const commentId = Path.param("id", wholeNumber);

const listComments = get(
  comments,
  {
    summary: "The comments on an article",
    meta: Meta.tool({ name: "comments" }),
    inputs: { viewer, slug: param(slug), database },
    returns: Returns.json(v.object({ comments: v.array(Comment) })),
    refuses: [Refusal.notFound],
  },
  async ({ viewer, slug, database }) => {
    if ((await database.exec(statements.findArticle, viewer?.id, slug)) === undefined) return refuse(Refusal.notFound);
    return { comments: (await database.exec(statements.listComments, viewer?.id, slug)).map(withAuthor) };
  },
);

const addComment = post(
  comments,
  {
    summary: "Comment on an article",
    meta: Meta.tool({ name: "add_comment" }),
    inputs: { caller, slug: param(slug), body: json(NewComment), database },
    returns: Returns.json(v.object({ comment: Comment })),
    refuses: [Refusal.notFound],
  },
  async ({ caller, slug, body: { comment }, database }) => {
    const added = await database.exec(statements.addComment, caller.id, slug, comment.body);
    return added === undefined ? refuse(Refusal.notFound) : { comment: withAuthor(added) };
  },
);

const removeComment = del(
  Path.of("api", "articles", slug, "comments", commentId),
  {
    summary: "Remove a comment",
    meta: Meta.tool({ name: "remove_comment" }),
    inputs: { caller, slug: param(slug), id: param(commentId), database },
    returns: Returns.empty({ status: 200 }),
    refuses: [Refusal.notFound, notYours],
  },
  ({ caller, slug, id, database }) =>
    database.transaction(async (db) => {
      const found = await db.exec(statements.findComment, slug, id);
      if (found === undefined) return refuse(Refusal.notFound);
      if (found.author !== caller.id) return refuse(notYours, "Only its author can remove a comment.");
      return db.exec(statements.removeComment, id);
    }),
);

export const commentRoutes = [listComments, addComment, removeComment] as const;
