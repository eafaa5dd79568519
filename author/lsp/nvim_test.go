package lsp

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jacquard-operator/jacquard/author/catalog"
)

// TestMain lets an editor start this program as the server.
func TestMain(m *testing.M) {
	if os.Getenv("JACQUARD_TEST_LSP") == "" {
		os.Exit(m.Run())
	}
	s := New(Options{Render: rendered, Log: os.Stderr})
	if err := s.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		os.Exit(1)
	}
}

// rendered is what the first resource of a file renders.
func rendered(ctx context.Context, c *catalog.Catalog, file *catalog.File) (string, error) {
	found, others, err := c.Resources(file.Objects)
	if err != nil {
		return "", err
	}
	world, err := c.Cluster(nil, others)
	if err != nil {
		return "", err
	}
	out, err := catalog.Render(ctx, found[0], world)
	if err != nil {
		return "", err
	}
	return out.Got[catalog.FileWant], out.Err
}

// TestNeovim: a real Neovim with the configuration of editors/nvim opens a file, shows
// findings, completes, jumps, renames and previews.
func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no Neovim: install neovim")
		}
		t.Skip("there is no Neovim: install neovim")
	}
	root := copied(t, app)
	config, err := filepath.Abs("../../editors/nvim/jacquard.lua")
	if err != nil {
		t.Fatal(err)
	}
	script, result := filepath.Join(t.TempDir(), "test.lua"), filepath.Join(t.TempDir(), "result.json")
	if err := os.WriteFile(script, []byte(nvimScript), 0o644); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile "+script)
	cmd.Dir = root
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "JACQUARD_TEST_LSP=1", "CONFIG="+config, "SERVER="+self, "RESULT="+result, "HOME="+home,
		"XDG_STATE_HOME="+home, "XDG_CACHE_HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(result)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	for what, want := range map[string]string{
		"error":    "",
		"diagnose": "App v1 has no field spec.imgae; did you mean spec.image?",
		"complete": "image",
		"hover":    "spec.image",
		"jump":     crd,
		"partial":  ports + ":3",
		"renamed":  `{{- define "app.ports" }}`,
		"caller":   `        ports: {{ include "app.ports" . }}`,
		"clean":    "0",
		"preview":  "imagePullPolicy: IfNotPresent",
		"windows":  "nofile",
		"live":     "imagePullPolicy: Always",
	} {
		if !strings.Contains(got[what], want) || want == "" && got[what] != "" {
			t.Errorf("%s: got %q, want %q", what, got[what], want)
		}
	}
}

// nvimScript drives Neovim and writes what it saw.
const nvimScript = `
local got = {}
local function wait(what, so)
  if not vim.wait(60000, so, 20) then
    error("waited in vain: " .. what)
  end
end
local function find(text, behind)
  vim.fn.cursor(1, 1)
  local line, column = unpack(vim.fn.searchpos("\\V" .. text, "c"))
  vim.api.nvim_win_set_cursor(0, { line, column - 1 + behind })
  return line
end
local function replace(old, new)
  local line = find(old, 0)
  local text = vim.fn.getline(line)
  local from, to = text:find(old, 1, true)
  vim.fn.setline(line, text:sub(1, from - 1) .. new .. text:sub(to + 1))
end
local function file()
  return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ":.")
end
local function run()
  vim.g.jacquard_cmd = { os.getenv("SERVER") }
  vim.cmd("luafile " .. os.getenv("CONFIG"))
  vim.cmd("set hidden")
  local deployment = "templates/apps.app.huolala.cn/deployment.yaml"
  vim.cmd("edit " .. deployment)
  wait("a client", function() return #vim.tbl_values(vim.lsp.buf_get_clients(0)) > 0 end)

  replace(".spec.image", ".spec.imgae")
  wait("a finding", function() return #vim.diagnostic.get(0) > 0 end)
  got.diagnose = vim.diagnostic.get(0)[1].message
  replace(".spec.imgae", ".spec.")
  find(".spec. ", 6)
  got.omnifunc = vim.bo.omnifunc
  local answers = vim.lsp.buf_request_sync(0, "textDocument/completion", vim.lsp.util.make_position_params(), 60000)
  local words = {}
  for _, answer in pairs(answers) do
    for _, item in ipairs(vim.lsp.util.text_document_completion_list_to_complete_items(answer.result or {}, "")) do
      table.insert(words, item.word)
    end
  end
  got.complete = table.concat(words, " ")
  replace(".spec. ", ".spec.image ")
  wait("no finding", function() return #vim.diagnostic.get(0) == 0 end)
  find(".spec.image", 7)
  for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/hover", vim.lsp.util.make_position_params(), 60000)) do
    got.hover = answer.result.contents.value
  end

  vim.lsp.buf.definition()
  wait("the CRD", function() return file():match("^crds/") end)
  got.jump = file()
  vim.cmd("edit " .. deployment)
  find("containerPorts", 3)
  vim.lsp.buf.definition()
  wait("the partial", function() return file():match("tpl$") end)
  got.partial = file() .. ":" .. vim.fn.line(".")

  vim.cmd("edit " .. deployment)
  find("containerPorts", 3)
  vim.lsp.buf.rename("app.ports")
  wait("the new name", function() return vim.fn.search("app.ports", "nw") > 0 end)
  got.caller = vim.fn.getline(find("app.ports", 0))
  vim.cmd("edit templates/apps.app.huolala.cn/_ports.tpl")
  got.renamed = vim.fn.getline(find("define", 0))
  vim.cmd("edit " .. deployment)
  wait("no finding", function() return #vim.diagnostic.get(0) == 0 end)
  got.clean = tostring(#vim.diagnostic.get(0))

  vim.cmd("JacquardPreview")
  local function preview()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      local buffer = vim.api.nvim_win_get_buf(window)
      if vim.bo[buffer].buftype == "nofile" then
        return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
      end
    end
    return ""
  end
  wait("the preview", function() return preview():match("kind: Service") end)
  got.preview = preview()
  local windows = #vim.api.nvim_list_wins()
  vim.cmd("JacquardPreview")
  got.windows = windows == #vim.api.nvim_list_wins() and vim.bo.buftype or "another window"
  vim.cmd("wincmd p")
  replace("IfNotPresent", "Always")
  wait("the next preview", function() return preview():match("Always") end)
  got.live = preview()
end
local ok, err = pcall(run)
got.error = ok and "" or tostring(err)
vim.fn.writefile({ vim.fn.json_encode(got) }, os.getenv("RESULT"))
vim.cmd("qall!")
`
