import type { ExternalDocs } from "../routing/meta.ts";

/** Who answers questions about the API. */
export interface Contact {
  /** The name of a person or a team. */
  readonly name?: string;
  /** The address of a page. */
  readonly url?: string;
  /** The address for mail. */
  readonly email?: string;
}

/** The license of the API: an SPDX `identifier` or a `url`, and not both. */
export interface License {
  /** The name of the license. */
  readonly name: string;
  /** Its SPDX expression, such as `MIT`; in place of `url`. */
  readonly identifier?: string;
  /** The address of its text; in place of `identifier`. */
  readonly url?: string;
}

/** Where the API is served. */
export interface ApiServer {
  /** Absolute, or relative to the document. */
  readonly url: string;
  /** What the server is, in Markdown. */
  readonly description?: string;
}

/** What the document says of a tag. */
export interface TagText {
  /** As in the `tags` of routes. */
  readonly name: string;
  /** What the group is, in Markdown. */
  readonly description?: string;
  /** A page that says more. */
  readonly externalDocs?: ExternalDocs;
}

/** What the document says of the API as a whole. Descriptions may be CommonMark. */
export interface ApiInfo {
  /** The API's name: `API` unless given. */
  readonly title?: string;
  /** The API's own version: `0` unless given. */
  readonly version?: string;
  /** What the API is, in Markdown. */
  readonly description?: string;
  /** The address of the terms of service. */
  readonly termsOfService?: string;
  /** Who answers questions. */
  readonly contact?: Contact;
  /** The license of the API. */
  readonly license?: License;
  /** A page that says more. */
  readonly externalDocs?: ExternalDocs;
  /** Servers, the first one first. Without any it is the one that the document is read from. */
  readonly servers?: readonly ApiServer[];
  /** Tags in the order that a reader sees them. Tags of routes that are not listed follow. */
  readonly tags?: readonly TagText[];
}

/** The members of the document that describe the API as a whole, in the order that people write them. */
interface Described {
  readonly info: { readonly title: string; readonly version: string };
  readonly servers: object;
  readonly tags: object;
  readonly externalDocs: object;
}

/** Reports what OpenAPI does not allow. */
export function describeApi(about: ApiInfo, problem: (what: string) => void): Described {
  const { title = "API", version = "0", description, termsOfService, contact, license } = about;
  const { externalDocs, servers = [], tags = [] } = about;
  if (license?.identifier !== undefined && license.url !== undefined) {
    problem("the license has an identifier and a url: OpenAPI allows one of them");
  }
  for (const [what, names] of [
    ["the server", servers.map(({ url }) => url)],
    ["the tag", tags.map(({ name }) => name)],
  ] as const) {
    for (const [index, name] of names.entries()) {
      if (name === "") problem(`${what} at ${index} has no name`);
      else if (names.indexOf(name) !== index) problem(`${what} ${name} is listed twice`);
    }
  }
  return {
    info: { title, version, ...present({ description, termsOfService, contact, license }) },
    servers: servers.length === 0 ? {} : { servers },
    tags: tags.length === 0 ? {} : { tags },
    externalDocs: present({ externalDocs }),
  };
}

/** The members that are there. */
function present(members: { readonly [name: string]: unknown }): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
