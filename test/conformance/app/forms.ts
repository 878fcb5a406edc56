/** Routes that read a form's fields and files (rows FM). */
import { Codec, Dep, Form, Path, Returns, post } from "usher-http";
import type { Route, UploadedFile } from "usher-http";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const told = ({ filename, contentType, content }: UploadedFile): string =>
  `${filename ?? "-"}(${contentType.type}/${contentType.subtype})=${text(content)}`;

export const forms: readonly Route[] = [
  post(
    Path.of("profile"),
    {
      inputs: {
        email: Form.required("email", Codec.string),
        age: Form.optional("age", Codec.int),
        tags: Form.list("tag", Codec.string),
        remember: Form.checked("remember"),
      },
      returns: Returns.text,
    },
    ({ email, age, tags, remember }) => `${email} ${age ?? "-"} [${tags.join(",")}] ${remember}`,
  ),
  post(
    Path.of("picture"),
    {
      inputs: {
        name: Form.required("name", Codec.string),
        avatar: Form.File.optional("avatar"),
        docs: Form.File.list("doc"),
      },
      returns: Returns.text,
    },
    ({ name, avatar, docs }) =>
      `${name} ${avatar === undefined ? "-" : told(avatar)} [${docs.map((doc) => told(doc)).join(",")}]`,
  ),
  post(Path.of("portrait"), { inputs: { avatar: Form.File.required("avatar") }, returns: Returns.text }, ({ avatar }) =>
    told(avatar),
  ),
  post(
    Path.of("range"),
    {
      inputs: {
        range: Dep.join(
          { from: Form.required("from", Codec.int), to: Form.required("to", Codec.int) },
          ({ from, to }) =>
            from <= to
              ? `${from}-${to}`
              : Dep.problem({ at: "form.to", code: "too_small", message: "This must not be before the start." }),
        ),
      },
      returns: Returns.text,
    },
    ({ range }) => range,
  ),
];
