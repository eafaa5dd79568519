{{ define "a" }}a{{ end }}
