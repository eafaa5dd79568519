// The gallery: a page for each kind of the repository, made of its files and of what
// `jacquard render` prints.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { slug } from "./markdown.mjs";
import { picture } from "./picture.mjs";

/** roots are the directories with kinds, and what the gallery calls them. */
export const roots = [
  { root: ".", title: "Shipped kinds" },
  { root: "examples/kinds/webapp", title: "Larger kinds" },
  { root: "examples/kinds/webhosting", title: "Larger kinds" },
  { root: "examples/kinds/memcached", title: "Larger kinds" },
  { root: "examples/patterns", title: "Patterns" },
];

const read = (file) => readFileSync(file, "utf8");

/** found are the kinds of all roots, each with the paths of its files. */
export function found(top) {
  return roots.flatMap(({ root, title }) =>
    readdirSync(join(top, root, "crds")).sort().map((file) => {
      const name = file.replace(/\.yaml$/, "");
      const at = (path) => posix.join(root, path);
      return {
        name, root, group: title, page: `kinds/${name}.md`,
        crd: at(`crds/${file}`), example: at(`examples/${file}`), folder: at(`templates/${name}`),
      };
    }));
}

/** files are those of a folder that are not tests, in the order of their names. */
export function files(top, kind) {
  return readdirSync(join(top, kind.folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => entry.name).sort();
}

/** pagesOf maps the paths of a kind's files to its page. */
export function pagesOf(top, kind) {
  const parts = [
    [kind.crd, "its-api"], [kind.example, "its-example"], [kind.folder, "its-folder"],
    ...files(top, kind).map((file) => [`${kind.folder}/${file}`, slug(file)]),
  ];
  return parts.map(([path, anchor]) => [path, `${kind.page}#${anchor}`]);
}

/** workload says what Kubernetes creates for an object: nothing, or its Pods. */
function below(object) {
  const pods = (n) => (n === 1 ? "1 Pod" : `${n} Pods`);
  switch (object.kind) {
    case "Deployment": case "StatefulSet": case "ReplicaSet": return pods(object.spec?.replicas ?? 1);
    case "DaemonSet": return "a Pod on each node";
    case "Job": return pods(object.spec?.parallelism ?? 1);
    case "CronJob": return "Jobs";
    default: return undefined;
  }
}

/** parsed is what `jacquard render` printed, as objects for the picture; one box for each. */
export function parsed(text) {
  const objects = text.split(/^---\n/m).filter((part) => part.trim() !== "").map((part) => {
    const [, place, patch] = /^# .*: (\S+?):\d+(?: \((patch[^)]*)\))?$/m.exec(part) ?? [];
    if (!place) throw new Error(`jacquard render printed no place before:\n${part}`);
    const object = parse(part);
    const file = place.replace(/^.*templates\/[^/]+\//, "");
    const title = `${object.kind} ${object.metadata.name}`;
    return patch ? { title, note: `${file}, ${patch}`, patch: true } : { title, note: file, below: below(object) };
  });
  return objects.filter((object) => {
    const first = objects.find((other) => other.title === object.title && other.patch === object.patch);
    if (object !== first && object.patch) first.note += `, ${object.note.split(", ")[1]}`;
    return object === first || !object.patch;
  });
}

/** rendered are the objects of the example, or of the first golden case that has some. */
function rendered(top, kind, jacquard) {
  const render = (...args) =>
    parsed(execFileSync(jacquard, ["render", "--root", kind.root, ...args], { cwd: top, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }));
  const objects = render(kind.example);
  if (objects.length > 0) return { objects };
  const tests = `${kind.folder}/tests`;
  for (const name of readdirSync(join(top, tests)).sort()) {
    const [cr, cluster, error] = ["resource.yaml", "cluster.yaml", "want-error.txt"].map((file) => `${tests}/${name}/${file}`);
    if (!existsSync(join(top, cr)) || !existsSync(join(top, cluster)) || existsSync(join(top, error))) continue;
    const some = render("--cluster-file", cluster, cr);
    if (some.length > 0) return { objects: some, of: { name, cr } };
  }
  throw new Error(`${kind.name}: neither the example nor a golden case has objects`);
}

/** legend says what is dashed in a picture. */
const legend = (objects) =>
  (objects.some((o) => o.below) ? " Kubernetes creates what is in dashed boxes." : "") +
  (objects.some((o) => o.patch) ? " Dashed lines lead to objects that are patched, and belong to others." : "");

const block = (language, text) => "`````" + language + "\n" + text.trimEnd() + "\n`````\n";

/** about reads what the CRD and the example say of a kind. */
export function about(top, kind) {
  const { spec } = parse(read(join(top, kind.crd)));
  const version = spec.versions.find((v) => v.storage);
  const description = version.schema.openAPIV3Schema.description ?? "";
  const lines = description.split("\n").map((line) => line.trim()).filter(Boolean);
  return { title: spec.names.kind, scope: spec.scope, apiVersion: `${spec.group}/${version.name}`, description: lines.join(" ") };
}

const named = (top, file, kind) =>
  parseAllDocuments(read(join(top, file))).map((doc) => doc.toJS()).find((doc) => doc?.kind === kind).metadata.name;

/** page is the page of one kind; play: the site has the playground. */
export function page(top, kind, jacquard, play) {
  const { title, scope, apiVersion, description } = about(top, kind);
  const { objects, of } = rendered(top, kind, jacquard);
  const name = named(top, of ? of.cr : kind.example, title);
  const root = kind.root === "." ? "" : ` --root ${kind.root}`;
  const drawn = picture({ title: `${title} ${name}`, note: apiVersion }, objects);
  const shown = of
    ? `The example alone renders no objects, because it names others that are not in it. The picture shows the golden case \`${of.name}\`.`
    : `The picture is made of what \`jacquard render${root} ${kind.example}\` prints.`;
  const folder = files(top, kind).map((file) => `### ${file}\n\n${block(file.endsWith(".yaml") ? "yaml" : "", read(join(top, kind.folder, file)))}`);
  return [
    `---\ntitle: ${title}\noutline: 2\n---\n`,
    `# ${title}\n`,
    `${description}\n`,
    `\`${apiVersion}\`, ${scope === "Cluster" ? "cluster-scoped" : "namespaced"}. Its name is \`${kind.name}\`.\n`,
    ...(play ? [`[Open it in the playground](../playground/#start=${kind.name}){target="_self"}\n`] : []),
    "## Its objects\n",
    `<div class="picture" tabindex="0">${drawn}</div>\n`,
    `${shown} A box is an object, with the file that renders it.${legend(objects)}\n`,
    "## Its example\n", `\`${kind.example}\`:\n`, block("yaml", read(join(top, kind.example))),
    "## Its folder\n", `\`${kind.folder}/\`, without its golden cases:\n`, ...folder,
    "## Its API\n", `\`${kind.crd}\`:\n`, "::: details The CRD\n", block("yaml", read(join(top, kind.crd))), ":::\n",
  ].join("\n");
}

/** gallery is the page that lists all kinds, with their pictures. */
export function gallery(top, kinds, jacquard) {
  const parts = ["---\ntitle: Gallery of kinds\noutline: [2, 3]\n---\n", "# Gallery of kinds\n",
    "Each of these kinds is a CRD and a folder of templates in the repository. Copy the one that is nearest to what you need.\n"];
  let group = "";
  for (const kind of kinds) {
    if (kind.group !== group) parts.push(`## ${(group = kind.group)}\n`);
    const { title, apiVersion, description } = about(top, kind);
    const { objects, of } = rendered(top, kind, jacquard);
    const name = named(top, of ? of.cr : kind.example, title);
    parts.push(`### ${title}\n`, `${description} [Its files](./${kind.name}.md).\n`,
      `<div class="picture" tabindex="0">${picture({ title: `${title} ${name}`, note: apiVersion }, objects)}</div>\n`);
  }
  return parts.join("\n");
}
