// How Markdown of the repository becomes Markdown of the site: links lead to pages, and
// what is not on the site is named by its path.
import { posix as path } from "node:path";

/** fence matches a block of code, which stays as it is. */
const fence = /^ *(`{3,}|~{3,})[^\n]*\n[\s\S]*?^ *\1 *$/gm;
const link = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g;

/** outside applies change to the text outside of blocks of code. */
export function outside(text, change) {
  let done = "";
  let from = 0;
  for (const block of text.matchAll(fence)) {
    done += change(text.slice(from, block.index)) + block[0];
    from = block.index + block[0].length;
  }
  return done + change(text.slice(from));
}

/**
 * slug is the name of a heading in links, as GitHub makes it, so that the same links work
 * in the repository and on the site.
 */
export function slug(title) {
  return title.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

/** relative is the link from one page to another, both with paths below the site. */
export function relative(from, to) {
  const short = path.relative(path.dirname(from), to);
  return short.startsWith(".") ? short : "./" + short;
}

/**
 * rewrite changes the links of a document. pages maps paths of the repository to pages of
 * the site, with an anchor where a file is a part of a page; files maps those of pictures.
 * titles are the headings of documents, which stand for their names.
 */
export function rewrite(text, { source, page, pages, files, titles = new Map() }) {
  const target = (href) => {
    const [name, anchor] = href.split("#");
    const file = path.normalize(path.join(path.dirname(source), name)).replace(/\/$/, "");
    const to = pages.get(file) ?? files.get(file);
    if (to === undefined) return { file };
    const [where, part] = to.split("#");
    const hash = anchor ?? part;
    return { file, href: relative(page, where) + (hash ? "#" + hash : "") };
  };
  const replace = (whole, picture, words, href) => {
    if (/^([a-z]+:|#)/.test(href)) return whole;
    const to = target(href);
    if (to.href && !picture && path.basename(to.file) === words) return `[${titles.get(to.file) ?? words}](${to.href})`;
    if (to.href) return `${picture}[${words}](${to.href})`;
    const code = "`" + to.file + "`";
    const plain = words.replaceAll("`", "");
    return to.file === plain || href === plain ? code : `${words} (${code})`;
  };
  const front = /^---\n[\s\S]*?\n---\n/.exec(text)?.[0] ?? "";
  const head = front.replace(/^( *-? *link: )(\S+)$/gm, (line, key, href) => {
    const to = target(href);
    if (!to.href) throw new Error(`${source}: ${href} is not a page of the site`);
    return key + path.join("/", path.dirname(page), to.href);
  });
  return head + outside(text.slice(front.length), (part) => part.replace(link, replace));
}
