// Package proc starts processes in sessions of their own and reads the CPU
// time and resident memory of a whole session from /proc.
package proc

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const clockTick = 10 * time.Millisecond // USER_HZ is 100 on Linux

// Process is a started command with all its descendants in the same session.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// Start runs the command in a new session, with its output appended to logFile.
func Start(logFile string, env []string, name string, args ...string) (*Process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is nobody's concern
		close(p.done)
	}()
	return p, nil
}

// Done is closed when the first process of the session has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Kill sends SIGKILL to every process of the session and waits for the first one.
func (p *Process) Kill() {
	for _, s := range sessionStats(p.cmd.Process.Pid) {
		_ = syscall.Kill(s.pid, syscall.SIGKILL) // it may have ended
	}
	<-p.done
}

// CPU is the user+system time of the session, ended and waited-for children included.
func (p *Process) CPU() time.Duration {
	var ticks int64
	for _, s := range sessionStats(p.cmd.Process.Pid) {
		ticks += s.ticks
	}
	return time.Duration(ticks) * clockTick
}

// RSS is the resident memory of the session in bytes.
func (p *Process) RSS() int64 {
	var pages int64
	for _, s := range sessionStats(p.cmd.Process.Pid) {
		pages += s.rssPages
	}
	return pages * int64(os.Getpagesize())
}

type stat struct {
	pid             int
	session         int
	ticks, rssPages int64
}

func sessionStats(session int) []stat {
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	var out []stat
	for _, f := range dirs {
		if s, err := readStat(f); err == nil && s.session == session {
			out = append(out, s)
		}
	}
	return out
}

// readStat parses /proc/PID/stat (see proc_pid_stat(5)).
func readStat(file string) (stat, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return stat{}, err
	}
	// The command name is in parentheses and may contain spaces.
	end := bytes.LastIndexByte(raw, ')')
	if end < 0 {
		return stat{}, fmt.Errorf("%s: no command name", file)
	}
	f := bytes.Fields(raw[end+1:]) // f[0] is field 3 (state)
	if len(f) < 22 {
		return stat{}, fmt.Errorf("%s: too few fields", file)
	}
	field := func(n int) int64 { // n as numbered in the manual page
		v, _ := strconv.ParseInt(string(f[n-3]), 10, 64)
		return v
	}
	pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
	return stat{
		pid:      pid,
		session:  int(field(6)),
		ticks:    field(14) + field(15) + field(16) + field(17),
		rssPages: field(24),
	}, err
}

// SelfCPU is the CPU time this process has used.
func SelfCPU() time.Duration {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		return 0
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// MachineCPU is the CPU time the whole machine has used (idle and I/O wait excluded).
func MachineCPU() time.Duration {
	raw, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	var ticks int64
	for i, f := range bytes.Fields(line) {
		// cpu user nice system idle iowait irq softirq steal
		if i == 0 || i == 4 || i == 5 || i > 8 {
			continue
		}
		v, _ := strconv.ParseInt(string(f), 10, 64)
		ticks += v
	}
	return time.Duration(ticks) * clockTick
}

// LoadAverage is the 1-minute load average.
func LoadAverage() float64 {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	v, _ := strconv.ParseFloat(string(bytes.Fields(raw)[0]), 64)
	return v
}

// Sampler records the RSS of a process every 250 ms.
type Sampler struct {
	mu      sync.Mutex
	samples []Sample
	stop    chan struct{}
}

// Sample is one reading.
type Sample struct {
	At  time.Time
	RSS int64
}

// Sample starts sampling until Stop or the end of the process.
func (p *Process) Sample() *Sampler {
	s := &Sampler{stop: make(chan struct{})}
	go func() {
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-s.stop:
				return
			case <-p.done:
				return
			case now := <-tick.C:
				rss := p.RSS()
				s.mu.Lock()
				s.samples = append(s.samples, Sample{now, rss})
				s.mu.Unlock()
			}
		}
	}()
	return s
}

// Stop ends the sampling.
func (s *Sampler) Stop() { close(s.stop) }

// Between returns the readings taken in [from, to].
func (s *Sampler) Between(from, to time.Time) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []int64
	for _, x := range s.samples {
		if !x.At.Before(from) && !x.At.After(to) {
			out = append(out, x.RSS)
		}
	}
	return out
}
