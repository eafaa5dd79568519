// The pages of the site, in the groups of its sidebar. Paths are those of the repository;
// test/laws checks that no document is left out.

/** pages of a group: the path of the document, and a short title if its heading is long. */
export const groups = [
  {
    text: "Start",
    items: [
      ["docs/site/index.md", "Start"],
      ["README.md", "Overview"],
      ["docs/tutorial.md", "A kind in ten minutes"],
      ["kinds/index.md", "Gallery of kinds"],
    ],
  },
  {
    text: "Platform engineer: write kinds",
    items: [
      ["docs/templates.md"],
      ["docs/patterns.md"],
      ["docs/reference.md", "Reference"],
      ["docs/tools.md"],
      ["docs/pipeline.md"],
      ["docs/scope.md"],
      ["docs/glossary.md"],
    ],
  },
  {
    text: "Application developer: apply resources",
    items: [["docs/resources.md"], ["docs/ui.md"], ["docs/gitops.md"]],
  },
  {
    text: "Cluster admin: run the operator",
    items: [
      ["docs/operations/README.md", "Tasks"],
      ["docs/operations/install.md"],
      ["docs/operations/permissions.md"],
      ["docs/operations/security.md"],
      ["docs/operations/kinds.md", "Add and change kinds"],
      ["docs/operations/rollouts.md"],
      ["docs/operations/move.md", "Move running objects"],
      ["docs/operations/upgrade-and-backup.md"],
      ["docs/operations/high-availability.md"],
      ["docs/operations/sharding.md"],
      ["docs/operations/alerts-and-troubleshooting.md"],
      ["docs/operations/objectives.md"],
      ["docs/operations/release.md"],
      ["charts/jacquard/README.md", "Chart"],
      ["docs/metrics.md"],
      ["docs/scaling.md"],
      ["docs/reliability.md"],
      ["docs/compatibility.md"],
    ],
  },
  {
    text: "Compare",
    items: [
      ["docs/neighbours/README.md", "Neighbours"],
      ["docs/neighbours/kro.md", "kro"],
      ["docs/neighbours/helm-operator.md", "Helm operator"],
      ["docs/neighbours/crossplane.md", "Crossplane"],
      ["docs/neighbours/metacontroller.md", "Metacontroller"],
      ["docs/neighbours/orkestra.md", "Orkestra"],
      ["docs/neighbours/flux-resourceset.md", "Flux ResourceSet"],
    ],
  },
  {
    text: "Work on Jacquard",
    collapsed: true,
    items: [
      ["docs/architecture.md"],
      ["docs/packages.md"],
      ["CONTRIBUTING.md"],
      ["CHANGELOG.md"],
      ["SECURITY.md"],
      ["docs/decisions/"],
    ],
  },
];


/** grouped are the groups with the documents of directories, whose names list gives. */
export const grouped = (list) =>
  groups.map((group) => ({
    ...group,
    items: group.items.flatMap(([path, title]) =>
      path.endsWith("/") ? list(path).filter((name) => name.endsWith(".md")).sort().map((name) => [path + name]) : [[path, title]]),
  }));
