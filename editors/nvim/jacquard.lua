-- Starts `jacquard lsp` for the files of kinds. Copy this file into
-- ~/.config/nvim/plugin/. It needs Neovim 0.7 and no plugin.
--
-- Keys are those that your configuration sets for language servers; completion is
-- omnifunc (CTRL-X CTRL-O). :JacquardPreview shows beside the file what the example of
-- its kind renders, and follows what you type.
--
-- Before it is loaded, these may be set:
--   vim.g.jacquard_cmd   the command; { "jacquard", "lsp" } if it is not

local previews = {} -- by URI: the buffer that shows it

-- root is the nearest directory above a file that has crds/ or templates/.
local function root(file)
  local dir = vim.fn.fnamemodify(file, ":p:h")
  while true do
    if vim.fn.isdirectory(dir .. "/templates") == 1 or vim.fn.isdirectory(dir .. "/crds") == 1 then
      return dir
    end
    local parent = vim.fn.fnamemodify(dir, ":h")
    if parent == dir then
      return nil
    end
    dir = parent
  end
end

local clients = {} -- by root

-- request sends a request, as each version of Neovim wants it.
local function request(client, command, uri, handler)
  local params = { command = command, arguments = { uri } }
  if vim.fn.has("nvim-0.11") == 1 then
    client:request("workspace/executeCommand", params, handler)
  else
    client.request("workspace/executeCommand", params, handler)
  end
end

-- window_of is the window that shows a preview; nil if none does.
local function window_of(uri)
  local buffer = previews[uri]
  local window = buffer and vim.fn.bufwinid(buffer) or -1
  return window ~= -1 and window or nil
end

local function show(preview)
  local buffer = previews[preview.uri]
  if buffer and vim.api.nvim_buf_is_valid(buffer) then
    vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(preview.text, "\n"))
  end
end

local function client_of(dir)
  local id = clients[dir]
  if id and vim.lsp.get_client_by_id(id) then
    return id
  end
  id = (vim.lsp.start_client or vim.lsp.start)({
    name = "jacquard",
    cmd = vim.g.jacquard_cmd or { "jacquard", "lsp" },
    root_dir = dir,
    handlers = {
      ["jacquard/preview"] = function(_, preview)
        show(preview)
      end,
    },
    on_attach = function(_, buffer)
      vim.bo[buffer].omnifunc = "v:lua.vim.lsp.omnifunc"
    end,
  })
  clients[dir] = id
  return id
end

local function attach(buffer)
  local file = vim.api.nvim_buf_get_name(buffer)
  local dir = root(file)
  if not dir then
    return
  end
  local inside = file:sub(#dir + 2)
  if not (inside:match("^templates/") or inside:match("^crds/") or inside:match("^examples/") or inside:match("^schemas/")) then
    return
  end
  local id = client_of(dir)
  if id then
    vim.lsp.buf_attach_client(buffer, id)
  end
end

local group = vim.api.nvim_create_augroup("jacquard", { clear = true })
vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
  group = group,
  pattern = { "*.yaml", "*.tpl" },
  callback = function(event)
    attach(event.buf)
  end,
})

vim.api.nvim_create_user_command("JacquardPreview", function()
  local file = vim.api.nvim_buf_get_name(0)
  local id = clients[root(file) or ""]
  local client = id and vim.lsp.get_client_by_id(id)
  if not client then
    vim.notify("jacquard lsp does not serve this file", vim.log.levels.ERROR)
    return
  end
  local uri = vim.uri_from_fname(file)
  if window_of(uri) then
    vim.api.nvim_set_current_win(window_of(uri))
    return
  end
  request(client, "jacquard.preview", uri, function(err, preview)
    if err then
      vim.notify(err.message, vim.log.levels.ERROR)
      return
    end
    if window_of(uri) then -- the command was given twice
      return
    end
    vim.cmd("vertical new")
    local buffer = vim.api.nvim_get_current_buf()
    vim.bo[buffer].buftype = "nofile"
    vim.bo[buffer].bufhidden = "wipe"
    vim.bo[buffer].filetype = "yaml"
    previews[uri] = buffer
    vim.api.nvim_create_autocmd("BufWipeout", {
      group = group,
      buffer = buffer,
      callback = function()
        previews[uri] = nil
        request(client, "jacquard.closePreview", uri, function() end)
      end,
    })
    show(preview)
    vim.cmd("wincmd p")
  end)
end, { desc = "Show what the example of this kind renders" })
