/** What an adapter answers with: answers, and the declarations of what a route returns. */
export { events, make, redirect } from "../answers/makers.ts";
export { response, responses } from "../answers/returns.ts";
export { isStream, jsonType } from "../exchange/answer.ts";
export type { Answer, AnswerBody, RevisedRequest, TakenConnection } from "../exchange/answer.ts";
