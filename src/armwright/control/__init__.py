"""What an arm offers: protocols for arms, grippers, cameras and clocks; guards; reports."""
