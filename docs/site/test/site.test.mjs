// What was built: every link leads, nothing comes from another host, no page has scripts
// in its attributes. What the playground does has tests of its own.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { grouped } from "../groups.mjs";
import { pageFor } from "../pages.mjs";

const out = process.env.SITE_OUT ?? "dist";
const base = process.env.SITE_BASE ?? "/";

const files = readdirSync(out, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(out, join(entry.parentPath, entry.name)));
const pages = new Map(files.filter((file) => file.endsWith(".html")).map((file) => [file, readFileSync(join(out, file), "utf8")]));

/** tags are the elements of a page with their attributes. */
function* tags(html) {
  for (const [, name, rest] of html.replace(/<script\b[\s\S]*?<\/script>/g, (s) => s.slice(0, s.indexOf(">") + 1)).matchAll(/<([a-z][a-z0-9-]*)\b([^>]*)>/gi)) {
    const attributes = new Map();
    for (const [, key, value = ""] of rest.matchAll(/([^\s"'=/]+)(?:="([^"]*)")?/g)) attributes.set(key.toLowerCase(), value);
    yield { name: name.toLowerCase(), attributes };
  }
}

const elsewhere = (address) => /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(address);
const ids = new Map([...pages].map(([file, html]) => [file, new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id))]));

/** found is the file below the site that an address of a page names. */
function found(page, address) {
  const { pathname, hash } = new URL(address.replaceAll("&amp;", "&"), `http://site${base}${page}`);
  if (!pathname.startsWith(base)) return { file: undefined };
  let file = decodeURIComponent(pathname.slice(base.length));
  if (file === "" || file.endsWith("/")) file += "index.html";
  return { file: existsSync(join(out, file)) && statSync(join(out, file)).isFile() ? file : undefined, hash: decodeURIComponent(hash.slice(1)) };
}

test("there are pages", () => {
  assert.ok(pages.size > 60, `only ${pages.size} pages`);
  const groups = grouped((directory) => readdirSync(join("pages", directory.replace(/^docs\//, ""))));
  for (const source of groups.flatMap((group) => group.items.map(([path]) => path))) {
    const page = (source === "kinds/index.md" ? source : pageFor(source)).replace(/\.md$/, ".html");
    assert.ok(pages.has(page), `${page} of ${source} is not there`);
  }
});

test("every link leads", () => {
  let links = 0;
  const dead = new Set();
  const named = new Set();
  for (const [page, html] of pages) {
    for (const { name, attributes } of tags(html)) {
      for (const key of ["href", "src"]) {
        const address = attributes.get(key);
        if (address === undefined || elsewhere(address)) continue;
        links++;
        const { file, hash } = found(page, address);
        if (!file) dead.add(`${page}: <${name} ${key}="${address}">: there is no such file`);
        else if (hash.startsWith("start=")) named.add(hash.slice("start=".length));
        else if (hash && ids.has(file) && !ids.get(file).has(hash)) dead.add(`${page}: ${address}: there is no such heading`);
      }
    }
  }
  assert.ok(links > 1000, `only ${links} links: this test no longer understands the pages`);
  assert.deepEqual([...dead], []);
  if (!files.includes(join("playground", "starts.json"))) return;
  const starts = JSON.parse(readFileSync(join(out, "playground/starts.json"), "utf8")).map(({ name }) => name);
  assert.ok(named.size > 10, `only ${named.size} links to the playground`);
  assert.deepEqual([...named].filter((name) => !starts.includes(name)), [], "the playground does not have them");
});

test("the playground has the files that it loads", () => {
  const scripts = files.filter((file) => /^playground\/(?!wasm_exec).*\.js$/.test(file));
  const loaded = scripts.flatMap((file) => [...readFileSync(join(out, file), "utf8").matchAll(/["'](?:\.\/)?([\w-]+\.(?:js|json|bin))["']/g)])
    .map(([, name]) => `playground/${name}`);
  assert.ok(scripts.length === 0 || loaded.length > 4, `it loads only ${loaded}`);
  assert.deepEqual(loaded.filter((file) => !files.includes(file)), []);
});

test("no page loads anything from another host", () => {
  const wrong = [];
  for (const [page, html] of pages) {
    for (const { name, attributes } of tags(html)) {
      for (const key of ["href", "src", "srcset", "data", "poster", "action", "xlink:href"]) {
        const address = attributes.get(key) ?? "";
        if (name !== "a" && elsewhere(address) && !address.startsWith("data:")) wrong.push(`${page}: <${name} ${key}="${address}">`);
      }
    }
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html)?.[1].replace("'wasm-unsafe-eval'", "") ?? "";
    if (!policy.includes("default-src 'none'") || /https?:|\*|unsafe-eval|script-src[^;]*unsafe/.test(policy)) wrong.push(`${page}: its policy is "${policy}"`);
  }
  for (const file of files.filter((name) => name.endsWith(".css"))) {
    for (const [all] of readFileSync(join(out, file), "utf8").matchAll(/(?:url\(|@import\s*)["']?(?:https?:)?\/\/[^)"']*/g)) wrong.push(`${file}: ${all}`);
  }
  for (const file of files.filter((name) => name.endsWith(".js"))) {
    for (const [all] of readFileSync(join(out, file), "utf8").matchAll(/(?:import\(|from|fetch\(|WebSocket\(|\.src\s*=)\s*["'`](?:https?:|wss?:)?\/\/[^"'`]*/g)) wrong.push(`${file}: ${all}`);
  }
  assert.deepEqual(wrong, []);
});

test("no element has a script in its attributes", () => {
  const wrong = [];
  for (const [page, html] of pages) {
    for (const { name, attributes } of tags(html)) {
      for (const [key, value] of attributes) {
        if (/^on[a-z]+$/.test(key) || /^javascript:/i.test(value)) wrong.push(`${page}: <${name} ${key}="${value}">`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});

test("no page says that something is published", () => {
  const wrong = [];
  for (const [page, html] of pages) {
    for (const { name, attributes } of tags(html)) {
      if (name === "a" && /github\.com\/jacquard-operator|ghcr\.io\/jacquard-operator/.test(attributes.get("href") ?? "")) wrong.push(`${page}: ${attributes.get("href")}`);
    }
  }
  assert.deepEqual(wrong, []);
});
