import assert from "node:assert/strict";
import { test } from "node:test";
import { parsed } from "../kinds.mjs";
import { rewrite, slug } from "../markdown.mjs";
import { picture } from "../picture.mjs";
import { terminal } from "../terminal.mjs";

const at = {
  source: "docs/operations/move.md", page: "operations/move.md",
  pages: new Map([["docs/tools.md", "tools.md"], ["README.md", "overview.md"], ["crds/a.yaml", "kinds/a.md#its-api"]]),
  files: new Map([["docs/scaling.svg", "scaling.svg"]]),
  titles: new Map([["docs/tools.md", "Tools"]]),
};

test("links lead to pages, and files that are not on the site are named", () => {
  for (const [text, want] of [
    ["[x](../tools.md#a)", "[x](../tools.md#a)"],
    ["[x](../../README.md)", "[x](../overview.md)"],
    ["[tools.md](../tools.md#a)", "[Tools](../tools.md#a)"],
    ["[x](../../crds/a.yaml)", "[x](../kinds/a.md#its-api)"],
    ["![x](../scaling.svg)", "![x](../scaling.svg)"],
    ["[the code](../../engine/plan)", "the code (`engine/plan`)"],
    ["[LICENSE](../../LICENSE)", "`LICENSE`"],
    ["[x](https://example.org/a) [y](#part)", "[x](https://example.org/a) [y](#part)"],
    ["```\n[x](../../LICENSE)\n```\n", "```\n[x](../../LICENSE)\n```\n"],
  ]) assert.equal(rewrite(text, at), want);
});

test("links in the settings of a page lead too, or are an error", () => {
  assert.equal(rewrite("---\nhero:\n  - link: ../tools.md\n---\n", at), "---\nhero:\n  - link: /tools.md\n---\n");
  assert.throws(() => rewrite("---\nlink: ../none.md\n---\n", at), /docs\/operations\/move.md: \.\.\/none.md is not a page/);
});

test("headings have the anchors of GitHub", () => {
  assert.equal(slug("`kind.yaml`: what it says"), "kindyaml-what-it-says");
});

const rendered = `---
# App default/shop: examples/kinds/x/templates/apps.example.com/server.yaml:2
apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop
spec:
  replicas: 2
---
# App default/shop: templates/apps.example.com/pods.yaml:4 (patch)
apiVersion: v1
kind: Pod
metadata:
  name: a
---
# App default/shop: templates/apps.example.com/pods.yaml:14 (patch of ephemeralcontainers)
apiVersion: v1
kind: Pod
metadata:
  name: a
`;

test("objects are read from what jacquard render prints", () => {
  assert.deepEqual(parsed(rendered), [
    { title: "Deployment shop", note: "server.yaml", below: "2 Pods" },
    { title: "Pod a", note: "pods.yaml, patch, patch of ephemeralcontainers", patch: true },
  ]);
  assert.throws(() => parsed("---\nkind: Pod\n"), /no place/);
});

test("a picture has each object as text, and no markup of a name", () => {
  const drawn = picture({ title: "App <b>{{x}}", note: "v1" }, parsed(rendered));
  for (const text of ["Deployment shop", "2 Pods", "Pod a"]) assert.ok(drawn.includes(`>${text}</text>`), text);
  assert.ok(!drawn.includes("<b>") && !drawn.includes("{{"));
  assert.equal(drawn, picture({ title: "App <b>{{x}}", note: "v1" }, parsed(rendered)));
});

test("a recording ends before what has times in it", () => {
  const drawn = terminal("make try", "1. One\n\n  <a>\n\n3. Three 1.5 s\n");
  assert.ok(drawn.includes(">$ make try</text>") && drawn.includes("&#60;a&#62;") && !drawn.includes("Three"));
});
