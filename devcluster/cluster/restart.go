package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// partEnded is called with a *partExit when a part has ended: it takes the
// cluster down, or has the part started again.
func (c *cluster) partEnded(cause error) {
	var exit *partExit
	if !c.restart || !c.ready.Load() || !errors.As(cause, &exit) {
		c.cancel(cause)
		return
	}
	select {
	case c.ended <- exit.name:
	default: // nobody reads any more: the cluster goes down
	}
}

// restartDelay keeps a part that ends at once from taking the whole machine.
const restartDelay = time.Second

// keepPartsRunning starts parts again that end, until the cluster is to go down.
func (c *cluster) keepPartsRunning(ctx context.Context) error {
	c.ready.Store(true)
	for {
		select {
		case <-ctx.Done():
			return nil
		case name := <-c.ended:
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(restartDelay):
			}
			if err := c.restartPart(name); err != nil {
				return err
			}
		}
	}
}

// restartPart starts a part that has ended.
func (c *cluster) restartPart(name string) error {
	for i, p := range c.processes {
		if p.name != name {
			continue
		}
		running, err := c.startPart(p.part)
		if err != nil {
			return err
		}
		c.processes[i] = running
		fmt.Printf("%-18s  pid %-7d  %s\n", name, running.cmd.Process.Pid, running.log)
	}
	return nil
}
