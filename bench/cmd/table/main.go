// Command table prints the reports of several runs side by side as Markdown.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/jacquard-operator/jacquard/bench/internal/report"
)

func main() {
	fmt.Println("| run | N | phase | reached | seconds | ratio to raw | p50 / p99 ms | writes | reads | requests per object | operator CPU s | peak RSS MiB | control-plane CPU s | foreign CPU s | notes |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, file := range os.Args[1:] {
		if err := printRun(file); err != nil {
			log.Fatalf("%s: %v", file, err)
		}
	}
}

func printRun(file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var r report.Report
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	fmt.Printf("| **%s** | %d | raw | | apply %.2f, create %.2f, update %.2f | 1 | | | | | | | | | load %.2f |\n",
		r.Name, r.N, r.Raw.ApplySeconds, r.Raw.CreateSeconds, r.Raw.UpdateSeconds, r.LoadAverage)
	for _, p := range r.Phases {
		fmt.Printf("| | | %s | %s | %.2f | %s | %s | %d | %d | %.2f | %.2f | %.0f | %.1f | %.1f | %s |\n",
			p.Name, p.Progress(), p.Seconds, formatNumber("%.1f", p.RatioRaw), formatLatency(p), p.Requests.Writes, p.Requests.Reads,
			p.RequestsPer, p.CPUSeconds, p.PeakRSS, p.ControlPlaneCPU, p.ForeignCPU, p.Remarks())
	}
	return nil
}

// formatNumber formats a number, or returns "" for 0.
func formatNumber(format string, v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// formatLatency formats the percentiles of a phase, or returns "" if it has none.
func formatLatency(p *report.Phase) string {
	if p.P50 == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f / %.0f", p.P50, p.P99)
}
