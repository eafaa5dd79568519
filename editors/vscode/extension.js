// Starts `jacquard lsp` and shows previews. Everything else is the server's.
// @ts-check
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

/** The scheme of the documents that show what an example renders. */
const scheme = "jacquard-preview";

/** @type {LanguageClient | undefined} */
let client;

/** What is previewed, by the URI of the file. @type {Map<string, string>} */
const previews = new Map();
const changed = new vscode.EventEmitter();

/**
 * The document that shows the preview of a file.
 * @param {string} uri
 */
function previewOf(uri) {
  const name = vscode.Uri.parse(uri).path.split("/").slice(-2, -1)[0];
  return vscode.Uri.from({ scheme, path: `/${name}.yaml`, query: uri });
}

/**
 * Takes in what the server says.
 * @param {{uri: string, text: string}} preview
 */
function take(preview) {
  previews.set(preview.uri, preview.text);
  changed.fire(previewOf(preview.uri));
}

async function start() {
  await client?.stop();
  // Of the settings of a workspace, this one does not take any: its scope is the machine.
  const command = vscode.workspace.getConfiguration("jacquard").get("path", "jacquard");
  client = new LanguageClient(
    "jacquard",
    "Jacquard",
    { command, args: ["lsp"] },
    {
      documentSelector: ["templates", "crds", "schemas", "examples"].map((part) => ({
        scheme: "file",
        pattern: `**/${part}/**/*.{yaml,tpl}`,
      })),
      initializationOptions: { diagnosticsOnly: !vscode.workspace.isTrusted },
    },
  );
  client.onNotification("jacquard/preview", take);
  await client.start();
}

async function showPreview() {
  const uri = vscode.window.activeTextEditor?.document.uri.toString(true);
  if (!client || !uri || !vscode.workspace.isTrusted) {
    return;
  }
  const file = client.code2ProtocolConverter.asUri(vscode.Uri.parse(uri));
  take(await client.sendRequest("workspace/executeCommand", { command: "jacquard.preview", arguments: [file] }));
  const document = await vscode.workspace.openTextDocument(previewOf(file));
  await vscode.languages.setTextDocumentLanguage(document, "yaml");
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true });
}

/** @param {vscode.ExtensionContext} context */
async function activate(context) {
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      onDidChange: changed.event,
      provideTextDocumentContent: (uri) => previews.get(uri.query) ?? "",
    }),
    vscode.workspace.onDidCloseTextDocument((document) => {
      if (document.uri.scheme === scheme && previews.delete(document.uri.query)) {
        client?.sendRequest("workspace/executeCommand", { command: "jacquard.closePreview", arguments: [document.uri.query] });
      }
    }),
    vscode.commands.registerCommand("jacquard.showPreview", showPreview),
    vscode.workspace.onDidGrantWorkspaceTrust(start),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("jacquard.path") && start()),
  );
  await start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
