// Command plot draws what `make compare` measured, from the folders of its reports:
// speed, CPU time and memory over the number of resources, as SVG on stdout.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jacquard-operator/jacquard/bench/internal/compare"
	"github.com/jacquard-operator/jacquard/bench/internal/plot"
	"github.com/jacquard-operator/jacquard/bench/internal/report"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(dirs []string) error {
	if len(dirs) == 0 {
		return errors.New("usage: plot FOLDER, as often as there are folders")
	}
	runs := map[string]map[int][]*report.Report{}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "round-*.json"))
		if err != nil {
			return err
		}
		// A run that was disturbed was done again: its last try counts.
		last := map[string]string{}
		for _, file := range files { // in the order of their names
			last[file[:strings.LastIndex(file, "-")]] = file
		}
		for _, file := range last {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			r := &report.Report{}
			if err := json.Unmarshal(text, r); err != nil {
				return err
			}
			if runs[r.Name] == nil {
				runs[r.Name] = map[int][]*report.Report{}
			}
			runs[r.Name][r.N] = append(runs[r.Name][r.N], r)
		}
	}
	if len(runs[compare.Jacquard]) == 0 {
		return fmt.Errorf("there are no reports in %v", dirs)
	}
	var panels []plot.Panel
	for _, figure := range compare.Plotted() {
		p := plot.Panel{Title: figure.Name}
		for _, program := range []string{compare.Jacquard, compare.HandwrittenSSA, compare.Handwritten} {
			line := plot.Line{Name: program}
			for n, all := range runs[program] {
				var values []float64
				for _, r := range all {
					values = append(values, figure.Of(r))
				}
				line.Points = append(line.Points, plot.Point{N: float64(n), Value: compare.Of(values).Median})
			}
			slices.SortFunc(line.Points, func(a, b plot.Point) int { return int(a.N - b.N) })
			p.Lines = append(p.Lines, line)
		}
		panels = append(panels, p)
	}
	return plot.Write(os.Stdout, panels)
}
