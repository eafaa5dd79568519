// Writes the pages of the site from the documents and kinds of the repository into a
// directory that VitePress builds: node pages.mjs REPOSITORY JACQUARD TRY DIRECTORY.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { grouped } from "./groups.mjs";
import { files as filesOf, found, gallery, page as pageOf, pagesOf } from "./kinds.mjs";
import { rewrite } from "./markdown.mjs";
import { terminal } from "./terminal.mjs";

/** pageFor is the path on the site of a document of the repository. */
export function pageFor(source) {
  const special = {
    "README.md": "overview.md", "docs/site/index.md": "index.md", "charts/jacquard/README.md": "chart.md",
    "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md",
  };
  return special[source] ?? source.replace(/^docs\//, "").replace(/README\.md$/, "index.md");
}

/** listed are the documents of the sidebar that are not made here. */
function listed(top) {
  const groups = grouped((directory) => readdirSync(join(top, directory)));
  return groups.flatMap((group) => group.items.map(([source]) => source)).filter((source) => source !== "kinds/index.md");
}

/** pictures are the images and other files below docs/ that documents may show. */
function pictures(top) {
  return readdirSync(join(top, "docs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(svg|png|gif|json)$/.test(entry.name) && !entry.parentPath.startsWith(join(top, "docs/site")))
    .map((entry) => posix.relative(top, posix.join(entry.parentPath, entry.name))).sort();
}

function main(top, jacquard, tried, out) {
  const write = (file, data) => {
    mkdirSync(dirname(join(out, file)), { recursive: true });
    writeFileSync(join(out, file), data);
  };
  rmSync(out, { recursive: true, force: true });
  const kinds = found(top);
  const documents = listed(top);
  const pages = new Map(documents.map((source) => [source, pageFor(source)]));
  pages.set("docs/operations", "operations/index.md").set("docs/neighbours", "neighbours/index.md");
  pages.set("examples/kinds", "kinds/index.md#larger-kinds").set("examples/patterns", "kinds/index.md#patterns");
  pages.set("templates", "kinds/index.md#shipped-kinds").set("examples", "kinds/index.md");
  for (const kind of kinds) {
    if (kind.root !== "." && kind.root !== "examples/patterns") pages.set(kind.root, kind.page);
    for (const [path, page] of pagesOf(top, kind)) pages.set(path, page);
  }
  const files = new Map(pictures(top).map((file) => [file, file.replace(/^docs\//, "")]));
  const texts = new Map(documents.map((source) => [source, readFileSync(join(top, source), "utf8")]));
  const titles = new Map([...texts].map(([source, text]) => [source, /^# (.*)$/m.exec(text)?.[1]]));
  for (const [source, text] of texts) {
    const page = pageFor(source);
    write(page, rewrite(text, { source, page, pages, files, titles }));
  }
  for (const [source, file] of files) {
    for (const copy of file.endsWith(".json") ? [join("public", file)] : [file]) {
      mkdirSync(dirname(join(out, copy)), { recursive: true });
      copyFileSync(join(top, source), join(out, copy));
    }
  }
  const play = process.env.SITE_PLAYGROUND === "true";
  for (const kind of kinds) write(kind.page, pageOf(top, kind, jacquard, play));
  write("kinds/index.md", gallery(top, kinds, jacquard));
  write("try.svg", terminal("make try", execFileSync(tried, { cwd: top, encoding: "utf8" })));
  console.log(`${documents.length} documents, ${kinds.length} kinds with ${kinds.flatMap((kind) => filesOf(top, kind)).length} files`);
}

if (import.meta.filename === process.argv[1]) main(...process.argv.slice(2));
