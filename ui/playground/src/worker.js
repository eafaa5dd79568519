// Runs the engine. app.js starts it from a blob, so that the policy of the page holds here
// too, and sets trusted.
/* global Go, jacquard, trusted */
self.onmessage = async ({ data }) => {
  if (data.module) {
    importScripts(trusted(data.go))
    const go = new Go()
    go.run(await WebAssembly.instantiate(data.module, go.importObject))
    jacquard(JSON.stringify(data.first)) // it reads the types of Kubernetes once
    postMessage({ ready: true })
    return
  }
  postMessage({ turn: data.turn, output: JSON.parse(jacquard(JSON.stringify(data.input))) })
}
